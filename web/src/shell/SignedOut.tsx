import { useState } from 'react'
import { BASE } from '../router/route'
import { isHere, signInCommand } from './signIn'

/** What is shown to a browser that the server does not know. */
export function SignedOut({ error }: { readonly error: unknown }) {
  return (
    <main className="signedout">
      <h1>Sign in</h1>
      <p>This browser isn’t signed in, or its sign-in has expired. To sign in, {how()}</p>
      <Command error={error} />
      <p className="quiet">
        It opens a link that signs this browser in. Sessions keep running in the meantime.
      </p>
      <button type="button" className="button" onClick={() => window.location.reload()}>
        Retry
      </button>
    </main>
  )
}

/** What is shown instead of signing in when a link was used before or is too old. */
export function SpentLink(props: { readonly error: unknown; readonly isSignedIn: boolean }) {
  return (
    <main className="signedout">
      <h1>This sign-in link has expired</h1>
      <p>A link works once, and only for a short time.</p>
      {props.isSignedIn ? (
        <p>This browser is already signed in.</p>
      ) : (
        <>
          <p>To get a new one, {how()}</p>
          <Command error={props.error} />
        </>
      )}
      <a className="button" href={`${BASE}/`}>
        Go to the dashboard
      </a>
    </main>
  )
}

function how(): string {
  return isHere(window.location)
    ? 'run this in a terminal on this machine:'
    : 'run this in a terminal, with an admin token in CALLBOARD_TOKEN:'
}

function Command({ error }: { readonly error: unknown }) {
  const command = signInCommand(error, window.location)
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(command).then(() => setCopied(true))
  return (
    <div className="signedout__command">
      <pre className="notice">{command}</pre>
      <button type="button" className="button" onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}
