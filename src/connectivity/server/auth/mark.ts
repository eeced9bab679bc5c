import type { Agent } from '../../../api/agent/report.ts';

/** On an Agent object whose last report came without a token; its value is "true". */
const ANONYMOUS_ANNOTATION = 'traffic.example.com/anonymous';

/** The metadata of an Agent object, with the mark if its report is anonymous, and without it if not. */
export function marked(
  metadata: NonNullable<Agent['metadata']>,
  anonymous: boolean | undefined,
): NonNullable<Agent['metadata']> {
  const others = Object.entries(metadata.annotations ?? {}).filter(([key]) => key !== ANONYMOUS_ANNOTATION);
  const all = anonymous === true ? [...others, [ANONYMOUS_ANNOTATION, 'true'] as const] : others;
  if (all.length > 0) return { ...metadata, annotations: Object.fromEntries(all) };
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== 'annotations'));
}

/** Whether an Agent object has the mark. */
export function isMarked(metadata: Agent['metadata']): boolean {
  return metadata?.annotations?.[ANONYMOUS_ANNOTATION] === 'true';
}
