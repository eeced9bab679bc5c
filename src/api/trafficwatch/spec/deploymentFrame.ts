import * as z from 'zod';

const object = <S extends z.ZodRawShape>(shape: S) => z.looseObject(shape, 'must be an object');
const list = <T extends z.ZodType>(item: T) => z.array(item, 'must be a list');

const requirements = list(object({})).nullish();
const term = object({ matchExpressions: requirements, matchFields: requirements });
const required = object({ nodeSelectorTerms: list(term).nullish() });
const nodeAffinity = object({ requiredDuringSchedulingIgnoredDuringExecution: required.nullish() });
const affinity = object({ nodeAffinity: nodeAffinity.nullish() });
const podSpec = object({ affinity: affinity.nullish(), containers: list(object({})) });

const int32 = z.int32('must be a whole number below 2147483648').nullish();

/**
 * The parts of a DeploymentSpec that the operator checks itself: the path to its node affinity, the required fields,
 * and the numbers, because the API server rejects a bad number without the field's name or lets it overflow. The API
 * server checks everything else.
 */
const frame = object({
  selector: object({}),
  template: object({ spec: podSpec.optional() }),
  minReadySeconds: int32,
  progressDeadlineSeconds: int32,
  replicas: int32,
  revisionHistoryLimit: int32,
});

/** The problems of a DeploymentSpec: the path within the spec, and the allowed values. */
export function deploymentFrameProblems(deployment: unknown): { path: PropertyKey[]; message: string }[] {
  const parsed = frame.safeParse(deployment);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path, message }));
}
