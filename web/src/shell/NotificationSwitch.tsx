import { BellIcon } from '../parts/icons'
import { useNotificationPermission } from './useNotifications'

/** Asks the browser for notifications, by a click and never by itself. */
export function NotificationSwitch() {
  const { state, ask } = useNotificationPermission()
  if (state === 'missing') return null
  if (state === 'granted') {
    return (
      <p className="quiet row">
        <BellIcon /> Notifications are on
      </p>
    )
  }
  if (state === 'denied') {
    return (
      <p className="quiet row">
        <BellIcon /> Notifications are blocked; the browser's site settings allow them.
      </p>
    )
  }
  return (
    <button type="button" className="button" onClick={() => void ask()}>
      <BellIcon /> Turn on notifications
    </button>
  )
}
