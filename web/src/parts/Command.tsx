import { useState } from 'react'
import { copyText } from './clipboard'
import { text } from './text'

/** A command to run in a terminal, with a button that copies it. */
export function Command({ command }: { readonly command: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => setCopied(await copyText(command))
  return (
    <div className="command">
      <pre className="notice">{command}</pre>
      <button type="button" className="button" onClick={copy}>
        {copied ? text.command.copied : text.command.copy}
      </button>
    </div>
  )
}
