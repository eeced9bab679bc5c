/**
 * Features that the chart has off by default, and the bundle on, unless it is made without them.
 *
 * A chart installs CRD, rights and flag of a feature together, or none of them. OLM installs every CRD and every right
 * of a bundle, and a Subscription can only change the flag. A CRD without the flag would accept objects that nobody acts
 * on.
 */
export const FEATURES = ['stacks', 'weights'] as const;
export type Feature = (typeof FEATURES)[number];

/** The values of the chart for a bundle without some of them, as `helm --set` takes them. */
export function valuesWithout(without: readonly Feature[]): string[] {
  return FEATURES.filter((feature) => !without.includes(feature)).map((one) => `${one}.enabled=true`);
}

/** @throws if one of the texts names no feature */
export function parseFeatures(texts: readonly string[]): Feature[] {
  return texts.map((text) => {
    const found = FEATURES.find((feature) => feature === text);
    if (found === undefined) throw new Error(`${text} is not one of ${FEATURES.join(', ')}`);
    return found;
  });
}
