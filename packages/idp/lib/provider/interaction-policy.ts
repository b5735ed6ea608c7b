import { interactionPolicy } from 'oidc-provider'

/** The prompts: the choice of an account, and no other unless the app insists. */
export function policyOfPrompts(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
  // A grant is made without a question, for web and native apps alike.
  policy.get('consent')?.checks.remove('native_client_prompt')
  return policy
}
