import { Component, type ReactNode } from 'react'
import { Problem } from '../parts/Problem'

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
    return (
      <div className="page">
        <header>
          <h1>This page broke</h1>
        </header>
        <Problem error={this.state.error} onRetry={() => this.setState({ error: null })} />
        <p className="quiet">Your sessions are not affected: they run on the server.</p>
      </div>
    )
  }
}
