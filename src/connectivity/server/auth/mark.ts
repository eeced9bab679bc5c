import type { Agent } from '../../../api/agent/schema.ts';

/** On an Agent object whose last report came without a token; its value is "true". */
export const ANONYMOUS_ANNOTATION = 'traffic.example.com/anonymous';

/** The metadata of an Agent object, with the mark if its report is anonymous, and without it if not. */
export function marked(metadata: NonNullable<Agent['metadata']>, anonymous: boolean | undefined) {
  const { [ANONYMOUS_ANNOTATION]: _mark, ...others } = metadata.annotations ?? {};
  const annotations = anonymous === true ? { ...others, [ANONYMOUS_ANNOTATION]: 'true' } : others;
  const { annotations: _before, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/** Whether an Agent object has the mark. */
export function isMarked(metadata: Agent['metadata']): boolean {
  return metadata?.annotations?.[ANONYMOUS_ANNOTATION] === 'true';
}
