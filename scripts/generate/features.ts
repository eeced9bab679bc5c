/**
 * Features that are off by default in the chart, and that deploy/ and the bundle have, unless a bundle is made without them.
 *
 * A chart installs CRD, rights and flag of a feature together, or none of them. deploy/crds has every CRD, and OLM
 * installs every CRD and every right of a bundle, of which a Subscription can only change the flag. A CRD without the
 * flag would accept objects that nobody acts on. Stacks of users are no feature of a bundle: their rights are in
 * deploy/stacks, for admins to apply.
 */
export const FEATURES = ['weights'] as const;
export type Feature = (typeof FEATURES)[number];

/** The values of the chart without some of them, as `helm --set` takes them. */
export function valuesWithout(without: readonly Feature[]): string[] {
  return FEATURES.map((feature) => `${feature}.enabled=${!without.includes(feature)}`);
}

/** @throws if one of the texts names no feature */
export function parseFeatures(texts: readonly string[]): Feature[] {
  return texts.map((text) => {
    const found = FEATURES.find((feature) => feature === text);
    if (found === undefined) throw new Error(`${text} is not one of ${FEATURES.join(', ')}`);
    return found;
  });
}
