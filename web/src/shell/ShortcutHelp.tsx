import { Dialog } from '../parts/Dialog'
import { KeyList } from './KeyList'
import { text } from './text'

/** Every key that works on this page. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text.help.title} onClose={onClose}>
      <KeyList />
      <p className="quiet">{text.help.note}</p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.help.close}
        </button>
      </div>
    </Dialog>
  )
}
