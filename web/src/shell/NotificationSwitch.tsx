import { BellIcon } from '../parts/icons'
import { text } from './text'
import { useNotificationPermission } from './useNotifications'

/** Asks the browser for notifications, by a click and never by itself. */
export function NotificationSwitch() {
  const { state, ask } = useNotificationPermission()
  if (state === 'missing') return null
  if (state === 'granted') {
    return (
      <p className="quiet row">
        <BellIcon /> {text.notifications.on}
      </p>
    )
  }
  if (state === 'denied') {
    return (
      <p className="quiet row">
        <BellIcon /> {text.notifications.blocked}
      </p>
    )
  }
  return (
    <button type="button" className="button" onClick={() => void ask()}>
      <BellIcon /> {text.notifications.turnOn}
    </button>
  )
}
