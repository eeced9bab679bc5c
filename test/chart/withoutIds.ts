const IDS = /^(runAs(User|Group)|fsGroup|supplementalGroups)$/;

/** A copy of manifests without user and group IDs. CRDs also have fields of these names: schemas. */
export function withoutIds<T>(value: T): T {
  const drop = (key: string, inner: unknown): unknown =>
    IDS.test(key) && typeof inner === 'number' ? undefined : inner;
  return JSON.parse(JSON.stringify(value, drop)) as T;
}
