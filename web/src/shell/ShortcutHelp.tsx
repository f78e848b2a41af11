import { Dialog } from '../parts/Dialog'
import { grouped } from '../parts/grouped'
import { shortcuts } from './shortcuts'
import { text } from './text'

/** Every key that works on this page. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const groups = grouped(shortcuts(), (shortcut) => shortcut.group)
  return (
    <Dialog title={text.help.title} onClose={onClose}>
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
      <p className="quiet">{text.help.note}</p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.help.close}
        </button>
      </div>
    </Dialog>
  )
}

const NAMES: Readonly<Record<string, string>> = text.help.names
