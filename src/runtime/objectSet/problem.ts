import { idOf } from './member.ts';
import type { Problem } from '../process/problem.ts';
import type { Member } from './member.ts';

/** Another object has the name of ours. */
export function foreignProblem(member: Member): Problem {
  const object = idOf(member);
  const message = `${object} exists and was not made by this operator: it is left as it is, and ours is missing`;
  return { reason: 'ForeignObject', object, message };
}

/** A Namespace cannot be removed yet. */
export function keptProblem(namespace: Member): Problem {
  const object = idOf(namespace);
  const message = `${object} is no longer needed, but is kept: something in it was not made by this operator`;
  return { reason: 'NamespaceKept', object, message };
}

/** A write failed. */
export function writeProblem(member: Member, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'WriteFailed', object: idOf(member), message };
}

/** The API server does not let us watch an object. */
export function refusalProblem(object: string, detail: string): Problem {
  const message = `${detail}; what depends on it stays as it is until that is allowed`;
  return { reason: 'Forbidden', object, message };
}
