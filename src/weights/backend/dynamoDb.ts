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
  /** Weight of a row that does not exist: an integer from 0 to 255. */
  readonly initialWeight: number;
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

/**
 * The table of k8s-traffic-controller in DynamoDB. Credentials are those that the AWS SDK finds: environment, web identity
 * (IRSA), pod identity, or the instance.
 *
 * | the row               | what happens                                                             |
 * |-----------------------|--------------------------------------------------------------------------|
 * | absent                | created with the initial weight for both, unless another replica was first |
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
      requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
    });
  }

  async read(signal: AbortSignal): Promise<BackendWeights> {
    const row = (await this.#get(signal)) ?? (await this.#create(signal));
    return { desired: this.#desiredIn(row), current: weightIn(row, CURRENT) };
  }

  async acknowledge(weight: number, signal?: AbortSignal): Promise<void> {
    const command = new UpdateItemCommand({
      ...this.#row(),
      UpdateExpression: 'SET #current = :weight',
      ConditionExpression: '#desired = :weight',
      ExpressionAttributeNames: { '#current': CURRENT, '#desired': DESIRED },
      ExpressionAttributeValues: { ':weight': { N: String(weight) } },
    });
    await this.#call(signal, (options) => this.#client.send(command, options)).catch(ignoreFailedCondition);
  }

  close(): void {
    this.#client.destroy();
  }

  async #get(signal: AbortSignal): Promise<Record<string, AttributeValue> | undefined> {
    const command = new GetItemCommand({ ...this.#row(), ConsistentRead: true });
    return (await this.#call(signal, (options) => this.#client.send(command, options))).Item;
  }

  async #create(signal: AbortSignal): Promise<Record<string, AttributeValue>> {
    const { tableName, clusterName, initialWeight } = this.#options;
    const weight = { N: String(initialWeight) };
    const row = { [KEY]: { S: clusterName }, [DESIRED]: weight, [CURRENT]: weight };
    const command = new PutItemCommand({
      TableName: tableName,
      Item: row,
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': KEY },
    });
    await this.#call(signal, (options) => this.#client.send(command, options)).catch(ignoreFailedCondition);
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
    const has = row[DESIRED]?.N ?? (row[DESIRED] === undefined ? 'absent' : 'no number');
    const where = `${DESIRED} of ${clusterName} in the table ${tableName}`;
    throw new BackendError('InvalidWeight', `${where} is ${has.slice(0, 40)}: must be an integer from 0 to 255`);
  }

  get #where(): string {
    const { tableName, region } = this.#options;
    return `DynamoDB (table ${tableName}, region ${region})`;
  }

  /** Only the name of an error is told: messages of AWS may have the ID of an access key. */
  async #call<T>(
    signal: AbortSignal | undefined,
    send: (options: { abortSignal?: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    try {
      return await send(signal === undefined ? {} : { abortSignal: signal });
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
  const read = text === undefined ? undefined : readClusterWeight(Number(text));
  return read !== undefined && 'value' in read ? read.value : undefined;
}

/** Somebody else was first: the next read tells. */
function ignoreFailedCondition(error: unknown): void {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
}
