import { type RefCallback, useCallback } from 'react'

/**
 * Answers that stay in view while a long prompt scrolls behind them; null where they need not.
 * What is around them knows how high they are, so that nothing ends up behind them.
 */
export function useAnswerBar(isSticky: boolean): RefCallback<HTMLElement> | null {
  const watch = useCallback((bar: HTMLElement | null) => {
    const around = bar?.parentElement
    if (!bar || !around) return
    const measure = () => around.style.setProperty('--answers', `${bar.offsetHeight}px`)
    const observer = new ResizeObserver(measure)
    measure()
    observer.observe(bar)
    return () => observer.disconnect()
  }, [])
  return isSticky ? watch : null
}
