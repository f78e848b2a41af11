import { type ReactNode, useEffect, useId, useRef } from 'react'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog of the browser's own: it keeps the focus, gives it back, and Esc closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) dialog.showModal()
    // The first thing to fill in or to press, and not the dialog itself.
    dialog?.querySelector<HTMLElement>('select, input, textarea, button')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={() => !ref.current?.open && onClose()}>
      <div className="dialog__body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
