import type { NewToken } from '@callboard/react'
import { useId, useState } from 'react'
import { copyText } from '../parts/clipboard'
import { Dialog } from '../parts/Dialog'
import { text } from './text'

interface Props {
  readonly made: NewToken
  readonly onClose: () => void
}

/** The secret of a new token, the only time that it is shown. */
export function Secret({ made, onClose }: Props) {
  const id = useId()
  const [said, setSaid] = useState('')
  const copy = async () =>
    setSaid((await copyText(made.secret)) ? text.tokens.copied : text.tokens.notCopied)
  return (
    <Dialog title={text.tokens.made(made.token.name)} onClose={onClose}>
      <p>{text.tokens.once}</p>
      <div className="field">
        <label htmlFor={id}>{text.tokens.secret}</label>
        <div className="settings__secret">
          <input
            id={id}
            className="input"
            readOnly
            value={made.secret}
            onFocus={(event) => event.currentTarget.select()}
          />
          <button type="button" className="button button--lamp" onClick={copy}>
            {text.tokens.copy}
          </button>
        </div>
      </div>
      <p className="quiet" role="status">
        {said}
      </p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.tokens.done}
        </button>
      </div>
    </Dialog>
  )
}
