import { useState } from 'react'
import { BASE } from '../router/route'
import { isHere, signInCommand } from './signIn'
import { text } from './text'

/** What is shown to a browser that the server does not know. */
export function SignedOut({ error }: { readonly error: unknown }) {
  return (
    <main className="signedout">
      <h1>{text.signIn.title}</h1>
      <p>{text.signIn.why(how())}</p>
      <Command error={error} />
      <p className="quiet">{text.signIn.note}</p>
      <button type="button" className="button" onClick={() => window.location.reload()}>
        {text.signIn.retry}
      </button>
    </main>
  )
}

/** What is shown instead of signing in when a link was used before or is too old. */
export function SpentLink(props: { readonly error: unknown; readonly isSignedIn: boolean }) {
  return (
    <main className="signedout">
      <h1>{text.spent.title}</h1>
      <p>{text.spent.why}</p>
      {props.isSignedIn ? (
        <p>{text.spent.signedIn}</p>
      ) : (
        <>
          <p>{text.spent.renew(how())}</p>
          <Command error={props.error} />
        </>
      )}
      <a className="button" href={`${BASE}/`}>
        {text.spent.leave}
      </a>
    </main>
  )
}

function how(): string {
  return isHere(window.location) ? text.signIn.here : text.signIn.elsewhere
}

function Command({ error }: { readonly error: unknown }) {
  const command = signInCommand(error, window.location)
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(command).then(() => setCopied(true))
  return (
    <div className="signedout__command">
      <pre className="notice">{command}</pre>
      <button type="button" className="button" onClick={copy}>
        {copied ? text.signIn.copied : text.signIn.copy}
      </button>
    </div>
  )
}
