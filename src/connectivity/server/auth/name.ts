import { reportSchema } from '../../../api/agent/report.ts';

/** Longest part of a wrong name that is repeated. */
const SHOWN_CHARACTERS = 100;

/**
 * Checks the name of an agent in a URL. A name is neither looked up nor kept before this check.
 *
 * @returns what is wrong; undefined for the valid name of a pod
 */
export function nameProblem(name: string): string | undefined {
  const { success, error } = reportSchema.shape.podname.safeParse(name);
  if (success) return undefined;
  const shown = name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
  return `the agent in the URL is ${JSON.stringify(shown)}: ${error.issues[0]?.message ?? 'must be the name of a pod'}`;
}
