import { grouped } from '../parts/grouped'
import { shortcuts } from './shortcuts'
import { text } from './text'

/** Every key that works on this page. */
export function KeyList() {
  const groups = grouped(shortcuts(), (shortcut) => shortcut.group)
  return (
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
  )
}

const NAMES: Readonly<Record<string, string>> = text.help.names
