import { isHook, type Manifest } from '../../scripts/chart/helm.ts';

/** Looks at one thing in the rendered objects. */
export type Look = (objects: readonly Manifest[]) => unknown;

/** Returns the value at a JSON pointer (~1 is a slash in a key) of the first object of a kind that is no hook; undefined where there is none. */
export const at =
  (kind: string, path: string, name = ''): Look =>
  (objects) => {
    const found = objects.find((each) => each.kind === kind && !isHook(each) && each.metadata.name.endsWith(name));
    return path
      .split('/')
      .map((key) => key.replaceAll('~1', '/'))
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], found);
  };
export const pod = (path: string): Look => at('Deployment', `spec/template/spec/${path}`);
export const container = (path: string): Look => pod(`containers/0/${path}`);
/** The value of an argument of the manager; undefined without it. */
export const argument =
  (name: string): Look =>
  (objects) =>
    (container('args')(objects) as string[]).find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
export const job =
  (path: string): Look =>
  (objects) =>
    at('Job', path)(objects.filter(isHook).map((each) => ({ ...each, metadata: { name: each.metadata.name } })));
export const count =
  (kind: RegExp, name = /^/): Look =>
  (objects) =>
    objects.filter((each) => !isHook(each) && kind.test(each.kind) && name.test(each.metadata.name)).length;
export const endpoint = (path: string): Look => at('ServiceMonitor', `spec/endpoints/0/${path}`);
export const peers = (name: string): Look => at('NetworkPolicy', 'spec/ingress/0/from/1', name);

/**
 * The effect of each value of the chart: set it, look at one thing, and see it there. Without the value, and all else the
 * same, that thing must be another.
 */
export interface Effect {
  /** The value, such as 'metrics.port'. */
  readonly of: string;
  readonly to: unknown;
  /** Other values that it needs to be of effect. */
  readonly also?: Readonly<Record<string, unknown>>;
  readonly see: Look;
  readonly is: unknown;
}
