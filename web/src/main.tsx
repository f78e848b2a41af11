import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App'
import { applyTheme } from './shell/useTheme'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import './styles/inbox.css'
import './styles/sessions.css'
import './styles/session.css'
import './styles/family.css'
import './styles/asks.css'
import './styles/forms.css'
import './styles/prompts.css'
import './styles/board.css'
import './styles/diffs.css'
import './styles/conversation.css'
import './styles/messages.css'
import './styles/changes.css'
import './styles/palette.css'

applyTheme()
const root = document.getElementById('root')
if (!root) throw new Error('No #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
