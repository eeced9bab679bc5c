import { cut } from '../../runtime/controller/conditions.ts';
import { clusterWeightIn } from '../records/weight.ts';
import { BackendError, throwUnavailable, type BackendWeights, type WeightBackend } from './backend.ts';

/** The place of the weight. */
export interface ConfigMapOptions {
  /** Name of the ConfigMap, in the namespace of the operator. */
  readonly name: string;
  readonly key: string;
}

/**
 * Reads a ConfigMap. Resolves to its data; undefined if no ConfigMap has the name.
 *
 * @throws Error with a message for users
 */
export type ReadConfigMap = (
  name: string,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>;

/** Characters of a value that a message repeats. */
const LONGEST_QUOTE = 40;

/** Reads the weight of a cluster from a key of a ConfigMap, which a pipeline may write. */
export class ConfigMapBackend implements WeightBackend {
  readonly #options: ConfigMapOptions;
  readonly #read: ReadConfigMap;

  constructor(options: ConfigMapOptions, read: ReadConfigMap) {
    this.#options = options;
    this.#read = read;
  }

  async read(_: unknown, signal: AbortSignal): Promise<BackendWeights> {
    const { name, key } = this.#options;
    const data = await this.#read(name, signal).catch(throwUnavailable);
    if (data === undefined) throw new BackendError('BackendUnavailable', `there is no ConfigMap ${name}`);
    return { desired: this.#weightIn(Object.hasOwn(data, key) ? data[key] : undefined), current: undefined };
  }

  close(): void {
    // It holds nothing.
  }

  #weightIn(text: string | undefined): number {
    const weight = clusterWeightIn(text?.trim());
    if (weight !== undefined) return weight;
    const { name, key } = this.#options;
    const has = text === undefined ? 'absent' : JSON.stringify(cut(text, LONGEST_QUOTE));
    throw new BackendError(
      'InvalidWeight',
      `${key} of the ConfigMap ${name} is ${has}: must be an integer from 0 to 255`,
    );
  }
}
