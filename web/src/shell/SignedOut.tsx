/** What is shown to a browser that the server does not know. */
export function SignedOut() {
  return (
    <main className="signedout">
      <h1>Who is there?</h1>
      <p>
        This browser is not signed in to the server, or its time is over. Open the dashboard from a
        terminal on the machine that runs it:
      </p>
      <pre className="notice">callboard open</pre>
      <p className="quiet">
        That makes a link that works once. Your sessions go on meanwhile; nothing is lost.
      </p>
      <button type="button" className="button" onClick={() => window.location.reload()}>
        I did, try again
      </button>
    </main>
  )
}
