import { cut } from '../../runtime/status/cut.ts';
import { clusterWeightIn } from '../records/weight.ts';
import { BackendError, throwUnavailable, type BackendWeights, type WeightBackend } from './backend.ts';

/** Where the weight is. */
export interface ConfigMapOptions {
  /** In the namespace of the operator. */
  readonly name: string;
  readonly key: string;
}

/**
 * Reads a ConfigMap. Resolves to its data; undefined if there is none of that name.
 *
 * @throws Error with a message for users
 */
export type ReadConfigMap = (
  name: string,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>;

/** Characters of a value that a message repeats. */
const LONGEST_QUOTE = 40;

/** The weight of a cluster that is the value of a key in a ConfigMap, such as one that a pipeline writes. */
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
