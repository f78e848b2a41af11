import { useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { Problem } from '../parts/Problem'
import { Needs } from '../settings/Needs'
import { Section } from '../settings/Section'
import '../styles/settings.css'
import { Hosts } from './Hosts'
import { Members } from './Members'
import { Tokens } from './Tokens'
import { text } from './text'

/** Who may use this board: people, tokens and hosts. */
export function PeoplePage() {
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
        <div>
          <h1>{text.title}</h1>
          <p className="quiet">{text.intro}</p>
        </div>
      </header>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!me && !error && <p className="quiet">{text.loading}</p>}
      {me && me.scope !== 'admin' && <Needs needed="admin" scope={me.scope} />}
      {me?.scope === 'admin' && (
        <>
          <Section title={text.people.title} about={text.people.about}>
            <Members />
          </Section>
          <Section title={text.tokens.title} about={text.tokens.about}>
            <Tokens />
          </Section>
          <Section title={text.hosts.title} about={text.hosts.about}>
            <Hosts />
          </Section>
        </>
      )}
    </div>
  )
}
