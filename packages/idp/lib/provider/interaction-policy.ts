import { interactionPolicy } from 'oidc-provider'

/** Returns the prompts: the account picker, and others only if the app requires them. */
export function policyOfPrompts(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
  // Grants need no consent, for web and native apps alike.
  policy.get('consent')?.checks.remove('native_client_prompt')
  return policy
}
