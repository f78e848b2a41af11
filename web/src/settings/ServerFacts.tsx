import { Ago } from '../parts/Ago'
import { Problem } from '../parts/Problem'
import { text } from './text'
import { useServer } from './useServer'

/** Which server this is, and where its database is. */
export function ServerFacts() {
  const { data, error, refetch } = useServer()
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  return (
    <dl className="settings__facts">
      <dt>{text.server.version}</dt>
      <dd>{data.version}</dd>
      <dt>{text.server.address}</dt>
      <dd>
        <code>{data.address}</code>
      </dd>
      <dt>{text.server.started}</dt>
      <dd>
        <Ago moment={data.startedAt} />
      </dd>
      <dt>{text.server.database}</dt>
      <dd>{data.database ? <code>{data.database}</code> : text.server.memory}</dd>
      <dt>{text.server.size}</dt>
      <dd>{text.server.bytes(data.databaseBytes)}</dd>
      <dt>{text.server.events}</dt>
      <dd>{text.server.count(data.events)}</dd>
      <dt>{text.server.schema}</dt>
      <dd>{data.schemaVersion}</dd>
    </dl>
  )
}
