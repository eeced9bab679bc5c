import { idOf } from './member.ts';
import type { Problem } from '../process/problem.ts';
import type { Member } from './member.ts';

/** Returns the problem that a foreign object has the name of a member. */
export function foreignProblem(member: Member): Problem {
  const object = idOf(member);
  const message = `${object} exists and was not made by this operator; not touched. The operator creates its own once it is deleted`;
  return { reason: 'ForeignObject', object, message };
}

/** Returns the problem that a Namespace cannot be removed yet. */
export function keptProblem(namespace: Member): Problem {
  const object = idOf(namespace);
  const why = 'an object in it was not made by this operator. Move that object to another Namespace';
  const message = `${object} is no longer needed, but kept: ${why}`;
  return { reason: 'NamespaceKept', object, message };
}

/** Returns the problem that a write failed. */
export function writeProblem(member: Member, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'WriteFailed', object: idOf(member), message };
}

/** Returns the problem that the API server does not allow the operator to watch an object. */
export function refusalProblem(object: string, detail: string): Problem {
  const message = `${detail}; allow it: until then, objects that depend on it are unchanged`;
  return { reason: 'Forbidden', object, message };
}
