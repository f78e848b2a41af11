import { type AgentStartRequest, useWorkflowClient } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { say } from '../parts/Toasts'
import { visible } from '../parts/visible'
import { navigate } from '../router/navigation'
import { to } from '../router/route'

/** Starts or resumes a coding agent, and goes to its page. */
export function useStart(onStarted: () => void = () => {}) {
  const client = useWorkflowClient()
  return useMutation({
    mutationFn: (wanted: AgentStartRequest) => client.startPlate(wanted),
    onSuccess: ({ plate, warning }) => {
      onStarted()
      if (warning) say(visible(warning))
      navigate(to.plate(plate.plateId))
    },
  })
}
