import { interactionPolicy } from 'oidc-provider'

/** When a person is asked: whom to be, and nothing else unless the app insists. */
export function policyOfPrompts(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
  // A grant is made without a question, for web and native apps alike.
  policy.get('consent')?.checks.remove('native_client_prompt')
  return policy
}
