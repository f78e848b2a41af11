import { type ComponentType, createElement, use } from 'react'

/** The code of a page could not be loaded: the server has newer pages, or cannot be reached. */
export class PageNotLoaded extends Error {
  override name = 'PageNotLoaded'
}

const loaders: Array<() => Promise<unknown>> = []

/**
 * A page whose code is loaded when it is first shown, or before that, when the browser is idle.
 *
 * Unlike `React.lazy`, a page whose code is already here renders at once, so that going from
 * page to page never shows the fallback in between.
 */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loading: Promise<ComponentType<P>> | null = null
  let Loaded: ComponentType<P> | null = null
  const fetched = () => {
    loading ??= load().then(
      (Component) => {
        Loaded = Component
        return Component
      },
      (cause) => {
        throw new PageNotLoaded('PageNotLoaded', { cause })
      },
    )
    return loading
  }
  loaders.push(fetched)
  return function LazyPage(props: P) {
    return createElement(Loaded ?? use(fetched()), props)
  }
}

/** Load all pages, one after the other, while the browser has nothing else to do. */
export function prefetchPages(): () => void {
  const waiting = [...loaders]
  let isStopped = false
  const next = () => {
    const load = waiting.shift()
    if (!load || isStopped) return
    // Offline, or a server that was replaced: the page says so when someone goes there.
    load().catch(() => undefined)
    whenIdle(next)
  }
  whenIdle(next)
  return () => {
    isStopped = true
  }
}

function whenIdle(run: () => void): void {
  // Safari has no idle callback.
  if ('requestIdleCallback' in window) window.requestIdleCallback(run, { timeout: 10_000 })
  else setTimeout(run, 1000)
}
