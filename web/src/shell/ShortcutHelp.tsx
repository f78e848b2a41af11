import { Dialog } from '../parts/Dialog'
import { grouped } from '../parts/grouped'
import { shortcuts } from './shortcuts'

/** Every key that works on this page. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const groups = grouped(shortcuts(), (shortcut) => shortcut.group)
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className="keys">
        {[...groups].map(([group, members]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {members.map(({ keys, label }) => (
                <div className="keys__row" key={keys}>
                  <dt>{label}</dt>
                  <dd>
                    {keys.split(' ').map((key) => (
                      <kbd key={key}>{NAMES[key] ?? key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="quiet">Esc closes what is open. Every button can be reached with Tab.</p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const NAMES: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
}
