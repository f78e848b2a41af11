import { type RefCallback, useCallback } from 'react'

/** Forms that take more of the window than this stay in place. */
const MOST = 0.4

/**
 * Answers that stay in view while a long prompt scrolls behind them; null where they need not.
 * What is around them knows how high they are, so that nothing ends up behind them.
 */
export function useAnswerBar(isSticky: boolean, isForm: boolean): RefCallback<HTMLElement> | null {
  const watch = useCallback(
    (bar: HTMLElement | null) => {
      const around = bar?.parentElement
      if (!bar || !around) return
      const measure = () => {
        const isTall = isForm && bar.scrollHeight > MOST * window.innerHeight
        bar.dataset.tall = `${isTall}`
        around.style.setProperty('--answers', isTall ? '0px' : `${bar.offsetHeight}px`)
      }
      const observer = new ResizeObserver(measure)
      measure()
      // A form that grows inside the bar does not make the bar higher.
      for (const one of [bar, ...bar.children]) observer.observe(one)
      return () => observer.disconnect()
    },
    [isForm],
  )
  return isSticky ? watch : null
}
