import { Component, type ReactNode } from 'react'
import { Problem } from '../parts/Problem'
import { PageNotLoaded } from '../router/lazily'
import { text } from './text'

interface Props {
  readonly children: ReactNode
  /** What was shown; another page gets another chance. */
  readonly resetKey: string
}

interface State {
  readonly error: unknown
  readonly resetKey: string
}

/** Keeps a defect in one page from taking the rest with it. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, resetKey: this.props.resetKey }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error }
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.resetKey === state.resetKey ? null : { error: null, resetKey: props.resetKey }
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children
    if (this.state.error instanceof PageNotLoaded) return <NotLoaded />
    return (
      <div className="page">
        <header>
          <h1>{text.broke.title}</h1>
        </header>
        <Problem error={this.state.error} onRetry={() => this.setState({ error: null })} />
        <p className="quiet">{text.broke.calm}</p>
      </div>
    )
  }
}

/** Trying again would ask for the same file; only the server's own page knows the new names. */
function NotLoaded() {
  return (
    <div className="page">
      <header>
        <h1>{text.notLoaded.title}</h1>
      </header>
      <div className="problem" role="alert">
        <p>{text.notLoaded.why}</p>
        <p>
          <button type="button" className="button" onClick={() => window.location.reload()}>
            {text.notLoaded.reload}
          </button>
        </p>
      </div>
      <p className="quiet">{text.broke.calm}</p>
    </div>
  )
}
