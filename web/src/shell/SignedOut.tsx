import { Command } from '../parts/Command'
import { BASE } from '../router/route'
import { isHere, signInCommand } from './signIn'
import { text } from './text'

/** What is shown to a browser that the server does not know. */
export function SignedOut({ error }: { readonly error: unknown }) {
  return (
    <main className="signedout">
      <h1>{text.signIn.title}</h1>
      <p>{text.signIn.why(how())}</p>
      <Command command={signInCommand(error, window.location)} />
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
          <Command command={signInCommand(props.error, window.location)} />
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
