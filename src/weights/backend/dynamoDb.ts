import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { readClusterWeight } from '../records/weight.ts';
import { BackendError, type BackendWeights, type WeightBackend } from './backend.ts';

/** Where the row of a cluster is. */
export interface DynamoDbOptions {
  readonly tableName: string;
  readonly region: string;
  /** In place of the one of the region. */
  readonly endpointUrl?: string | undefined;
  /** Key of the row. */
  readonly clusterName: string;
}

/** Attributes of a row, as k8s-traffic-controller has them: a key that is a text, and two numbers. */
const KEY = 'ClusterName';
const DESIRED = 'DesiredWeight';
const CURRENT = 'CurrentWeight';

/** Attempts of the SDK at one call, with a backoff between them. The next poll follows after 20 s. */
const ATTEMPTS = 3;
/** Milliseconds. DynamoDB answers within some; the next poll should not wait for a connection that is dead. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 4_000;
/** The first ends at the head of an answer, the second when nothing comes for so long, also in its body. */
const ANSWER = { requestTimeout: ANSWER_MS, throwOnRequestTimeout: true, socketTimeout: ANSWER_MS };
/** DynamoDB has a number without leading zeros or a sign. Number() alone would take an empty text for 0. */
const DIGITS = /^[0-9]+$/;

/**
 * The table of k8s-traffic-controller in DynamoDB. Credentials are those that the AWS SDK finds: environment, web identity
 * (IRSA), pod identity, or the instance.
 *
 * | the row               | what happens                                                             |
 * |-----------------------|--------------------------------------------------------------------------|
 * | absent                | created with `DesiredWeight` alone, unless somebody else was first       |
 * | there                 | read consistently                                                        |
 * | a weight is in force  | `CurrentWeight` is set, if `DesiredWeight` is still that weight          |
 */
export class DynamoDbBackend implements WeightBackend {
  readonly #options: DynamoDbOptions;
  readonly #client: DynamoDBClient;

  constructor(options: DynamoDbOptions) {
    const { region, endpointUrl } = options;
    this.#options = options;
    this.#client = new DynamoDBClient({
      region,
      ...(endpointUrl !== undefined && { endpoint: endpointUrl }),
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, ...ANSWER },
    });
  }

  async read(known: number | undefined, signal: AbortSignal): Promise<BackendWeights> {
    const row = (await this.#get(signal)) ?? (await this.#create(known ?? 0, signal));
    return { desired: this.#desiredIn(row), current: weightIn(row, CURRENT) };
  }

  async acknowledge(weight: number, signal: AbortSignal): Promise<boolean> {
    const command = new UpdateItemCommand({
      ...this.#row(),
      UpdateExpression: 'SET #current = :weight',
      ConditionExpression: '#desired = :weight',
      ExpressionAttributeNames: { '#current': CURRENT, '#desired': DESIRED },
      ExpressionAttributeValues: { ':weight': { N: String(weight) } },
    });
    return this.#ifConditionHolds(signal, (options) => this.#client.send(command, options));
  }

  close(): void {
    this.#client.destroy();
  }

  async #get(signal: AbortSignal): Promise<Record<string, AttributeValue> | undefined> {
    const command = new GetItemCommand({ ...this.#row(), ConsistentRead: true });
    return (await this.#call(signal, (options) => this.#client.send(command, options))).Item;
  }

  async #create(initialWeight: number, signal: AbortSignal): Promise<Record<string, AttributeValue>> {
    const { tableName, clusterName } = this.#options;
    const command = new PutItemCommand({
      TableName: tableName,
      Item: { [KEY]: { S: clusterName }, [DESIRED]: { N: String(initialWeight) } },
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': KEY },
    });
    await this.#ifConditionHolds(signal, (options) => this.#client.send(command, options));
    const created = await this.#get(signal);
    if (created !== undefined) return created;
    // Something that answers everything, such as a proxy: its initial weight would take the cluster out of the DNS.
    throw new BackendError('BackendUnavailable', `${this.#where} has no row of ${clusterName} after it was created`);
  }

  #row() {
    const { tableName, clusterName } = this.#options;
    return { TableName: tableName, Key: { [KEY]: { S: clusterName } } };
  }

  #desiredIn(row: Record<string, AttributeValue>): number {
    const desired = weightIn(row, DESIRED);
    if (desired !== undefined) return desired;
    const { tableName, clusterName } = this.#options;
    const { N: number = '' } = row[DESIRED] ?? {};
    const has = row[DESIRED] === undefined ? 'absent' : number === '' ? 'no number' : number;
    const where = `${DESIRED} of ${clusterName} in the table ${tableName}`;
    throw new BackendError('InvalidWeight', `${where} is ${has.slice(0, 40)}: must be an integer from 0 to 255`);
  }

  get #where(): string {
    const { tableName, region } = this.#options;
    return `DynamoDB (table ${tableName}, region ${region})`;
  }

  /** Resolves to false if the condition of a write does not hold: somebody else was first, and the next read tells. */
  async #ifConditionHolds(
    signal: AbortSignal,
    send: (options: { abortSignal: AbortSignal }) => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await this.#call(signal, send);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  /** Only the name of an error is told: messages of AWS may have the ID of an access key. */
  async #call<T>(signal: AbortSignal, send: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      return await send({ abortSignal: signal });
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw error;
      const name = error instanceof Error ? error.name : 'unknown error';
      const answered = error instanceof DynamoDBServiceException ? 'answered' : 'did not answer:';
      throw new BackendError('BackendUnavailable', `${this.#where} ${answered} ${name}`, { cause: error });
    }
  }
}

function weightIn(row: Record<string, AttributeValue>, attribute: string): number | undefined {
  const text = row[attribute]?.N;
  const read = text !== undefined && DIGITS.test(text) ? readClusterWeight(Number(text)) : undefined;
  return read !== undefined && 'value' in read ? read.value : undefined;
}
