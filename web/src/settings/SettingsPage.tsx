import { type TokenHolder, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { text as people } from '../people/text'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { KeyList } from '../shell/KeyList'
import { NotificationSwitch } from '../shell/NotificationSwitch'
import { useNotificationPermission } from '../shell/useNotifications'
import { CHOICES, useTheme } from '../shell/useTheme'
import '../styles/settings.css'
import { Hooks } from './Hooks'
import { Needs } from './Needs'
import { Section } from './Section'
import { ServerFacts } from './ServerFacts'
import { text } from './text'

/** Everything that can be set up here, and what the person at this browser may do. */
export function SettingsPage() {
  const client = useWorkflowClient()
  const {
    data: me,
    error,
    refetch,
  } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => client.getMe(signal),
  })
  return (
    <div className="page settings">
      <header>
        <h1>{text.title}</h1>
      </header>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!me && !error && <p className="quiet">{text.loading}</p>}
      {me && <Identity me={me} />}
      <Notifications />
      <Theme />
      <Section title={text.people.title} about={text.people.about}>
        <Link className="button" to={to.people()}>
          {text.people.show}
        </Link>
      </Section>
      {me && <HookSection me={me} />}
      <Section title={text.keys.title} about={text.keys.about}>
        <details>
          <summary>{text.keys.show}</summary>
          <KeyList />
        </details>
      </Section>
      <Section title={text.usage.title} about={text.usage.about}>
        <Link className="button" to={to.usage()}>
          {text.usage.show}
        </Link>
      </Section>
      <Section title={text.workers.title} about={text.workers.about}>
        <Link className="button" to={to.workers()}>
          {text.workers.show}
        </Link>
      </Section>
      {me && <ServerSection me={me} />}
    </div>
  )
}

interface Mine {
  readonly me: TokenHolder
}

function Identity({ me }: Mine) {
  const client = useWorkflowClient()
  // Whom a proxy signs in, it would sign in again at once: they sign out there.
  const leave = () =>
    me.signOutUrl ? window.location.assign(me.signOutUrl) : window.location.reload()
  const signOut = () => void client.logOut().then(leave)
  return (
    <Section title={text.identity.title} about={text.identity.about}>
      <dl className="settings__facts">
        <dt>{text.identity.name}</dt>
        <dd>{me.name}</dd>
        <dt>{text.identity.person}</dt>
        <dd>{me.person}</dd>
        <dt>{text.identity.role}</dt>
        <dd>
          {people.roles[me.scope]} <span className="quiet">{people.allows[me.scope]}</span>
        </dd>
        <dt>{text.identity.groups}</dt>
        <dd>{me.groups.join(', ') || text.identity.noGroups}</dd>
      </dl>
      <button type="button" className="button" onClick={signOut}>
        {text.identity.signOut}
      </button>
    </Section>
  )
}

function Notifications() {
  const { state } = useNotificationPermission()
  const test = () => {
    new Notification(text.notifications.testTitle, { body: text.notifications.testBody })
    say(text.notifications.sent)
  }
  return (
    <Section title={text.notifications.title} about={text.notifications.about}>
      {state === 'missing' && <p>{text.notifications.missing}</p>}
      <NotificationSwitch />
      {state === 'granted' && (
        <button type="button" className="button" onClick={test}>
          {text.notifications.test}
        </button>
      )}
    </Section>
  )
}

function Theme() {
  const { choice, choose } = useTheme()
  return (
    <Section title={text.theme.title} about={text.theme.about}>
      <fieldset className="choices">
        <legend className="hidden">{text.theme.title}</legend>
        {CHOICES.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="theme"
              value={one}
              checked={choice === one}
              onChange={() => choose(one)}
            />
            {text.theme.choices[one]}
          </label>
        ))}
      </fieldset>
    </Section>
  )
}

function HookSection({ me }: Mine) {
  return (
    <Section title={text.hooks.title} about={text.hooks.about}>
      {me.scope === 'admin' ? <Hooks /> : <Needs needed="admin" scope={me.scope} />}
    </Section>
  )
}

function ServerSection({ me }: Mine) {
  const isAllowed = me.scope === 'admin' || me.scope === 'operate'
  return (
    <Section title={text.server.title} about={text.server.about}>
      {isAllowed ? <ServerFacts /> : <Needs needed="operate" scope={me.scope} />}
    </Section>
  )
}
