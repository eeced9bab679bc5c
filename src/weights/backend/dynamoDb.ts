import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type AttributeValue,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { clusterWeightIn } from '../records/weight.ts';
import { BackendError, type BackendWeights, type ReadOptions, type WeightBackend } from './backend.ts';
import { ALIVE_S, hasTraffic, mayGoToZero, needsSign, ownRow, type ClusterRow, type ClusterRows } from './zeroGuard.ts';

/** The place of the row of a cluster. */
export interface DynamoDbOptions {
  readonly tableName: string;
  readonly region: string;
  /** URL of DynamoDB. Default: the endpoint of the region. */
  readonly endpointUrl?: string | undefined;
  /** Key of the row. */
  readonly clusterName: string;
}

/** Attributes of a row, the same as in k8s-traffic-controller: a key (text) and two weights (numbers). */
const KEY = 'ClusterName';
const DESIRED = 'DesiredWeight';
const CURRENT = 'CurrentWeight';
/** k8s-traffic-controller does not have it. True from before the cluster goes to 0 until a weight above 0 is active. */
const MARK = 'NoTraffic';
/** k8s-traffic-controller does not have it. When the operator of the cluster last read its row, seconds since 1970. */
const SEEN = 'SeenAt';
const ZERO = { ':zero': { N: '0' } };

/** Attempts of the SDK at one call, with a backoff between them. The next poll follows after 20 s. */
const ATTEMPTS = 3;
/** Milliseconds. DynamoDB answers within a few; the next poll should not wait for a dead connection. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 4_000;
/** requestTimeout covers the time until the head of the answer; socketTimeout any silence, also within the body. */
const ANSWER = { requestTimeout: ANSWER_MS, throwOnRequestTimeout: true, socketTimeout: ANSWER_MS };

/**
 * The table of k8s-traffic-controller in DynamoDB. The AWS SDK finds the credentials: environment, web identity (IRSA),
 * pod identity, or the instance.
 *
 * | the row               | what happens                                                             |
 * |-----------------------|--------------------------------------------------------------------------|
 * | absent                | created with `DesiredWeight` only, unless another client created it first |
 * | there                 | read consistently; `SeenAt` is set every 5 minutes                       |
 * | the cluster goes from a weight above 0 to 0 | `NoTraffic` is set, if another cluster has traffic: see zeroGuard.ts |
 * | a weight is active    | `CurrentWeight` is set, if `DesiredWeight` is still that weight          |
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

  async read(options: ReadOptions, signal: AbortSignal): Promise<BackendWeights> {
    const { known, initialWeight } = options;
    const item = (await this.#get(signal)) ?? (await this.#create(known ?? initialWeight, signal));
    await this.#showLife(item, signal);
    const { weights, has, mustAsk } = ownRow(this.#rowIn(item), known);
    if (!mustAsk || (await this.#mayGoToZero(options, signal))) return weights;
    // DesiredWeight may have changed since the first read.
    const again = await this.#get(signal);
    if (again !== undefined && weightIn(again, DESIRED) !== 0) return ownRow(this.#rowIn(again), known).weights;
    const problem = `no other cluster of the table ${this.#options.tableName} has ${CURRENT} above 0, no ${MARK}, and a ${SEEN} within an hour`;
    const what = 'all clusters would be at 0. Give another cluster a weight first, or set allowAllZero';
    throw new BackendError('AllZero', `${problem}; ${what}`, { held: has });
  }

  async acknowledge(weight: number, signal: AbortSignal): Promise<boolean> {
    const unmarks = weight > 0;
    const command = new UpdateItemCommand({
      ...this.#row(),
      UpdateExpression: `SET #current = :weight${unmarks ? ' REMOVE #mark' : ''}`,
      ConditionExpression: '#desired = :weight',
      ExpressionAttributeNames: { '#current': CURRENT, '#desired': DESIRED, ...(unmarks && { '#mark': MARK }) },
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
      Item: { [KEY]: { S: clusterName }, [DESIRED]: { N: String(initialWeight) }, [SEEN]: { N: String(nowS()) } },
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': KEY },
    });
    await this.#ifConditionHolds(signal, (options) => this.#client.send(command, options));
    const created = await this.#get(signal);
    if (created !== undefined) return created;
    // Something that answers everything, such as a proxy: its initial weight would take the cluster out of the DNS.
    throw new BackendError('BackendUnavailable', `${this.#where} has no row of ${clusterName} after it was created`);
  }

  /** Sets the sign of life of the own row. An error does not matter to the read: an acknowledgement names a missing right. */
  async #showLife(item: Record<string, AttributeValue>, signal: AbortSignal): Promise<void> {
    const now = nowS();
    if (!needsSign(trafficIn(item), now)) return;
    const command = new UpdateItemCommand({
      ...this.#row(),
      UpdateExpression: 'SET #seen = :now',
      ConditionExpression: 'attribute_exists(#key)',
      ExpressionAttributeNames: { '#seen': SEEN, '#key': KEY },
      ExpressionAttributeValues: { ':now': { N: String(now) } },
    });
    try {
      await this.#ifConditionHolds(signal, (options) => this.#client.send(command, options));
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }

  #mayGoToZero({ allowAllZero }: ReadOptions, signal: AbortSignal): Promise<boolean> {
    const rows: ClusterRows = {
      withTraffic: (stop) => this.#withTraffic(stop),
      markWithoutTraffic: (other, stop) => this.#mark(other, stop),
    };
    return mayGoToZero(rows, allowAllZero, signal);
  }

  async #withTraffic(signal: AbortSignal): Promise<string[] | undefined> {
    const names: string[] = [];
    let start: Record<string, AttributeValue> | undefined;
    do {
      const page = await this.#scan(start, signal);
      if (page === undefined) return undefined;
      const rows = (page.Items ?? []).filter((row) => hasTraffic(trafficIn(row), nowS()));
      names.push(...rows.flatMap((row) => row[KEY]?.S ?? []));
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
    return names.filter((name) => name !== this.#options.clusterName);
  }

  /** Reads a page of the table. Resolves to undefined without permission to scan. */
  async #scan(
    start: Record<string, AttributeValue> | undefined,
    signal: AbortSignal,
  ): Promise<ScanCommandOutput | undefined> {
    const from = start && { ExclusiveStartKey: start };
    const command = new ScanCommand({ TableName: this.#options.tableName, ConsistentRead: true, ...from });
    try {
      return await this.#call(signal, (options) => this.#client.send(command, options));
    } catch (error) {
      if (error instanceof BackendError && isDenied(error.cause)) return undefined;
      throw error;
    }
  }

  #mark(other: string | undefined, signal: AbortSignal): Promise<boolean> {
    const own = {
      ...this.#row(),
      UpdateExpression: 'SET #mark = :true',
      ConditionExpression: '#desired = :zero',
      ExpressionAttributeNames: { '#mark': MARK, '#desired': DESIRED },
      ExpressionAttributeValues: { ...ZERO, ':true': { BOOL: true } },
    };
    if (other === undefined) {
      const update = new UpdateItemCommand(own);
      return this.#ifConditionHolds(signal, (options) => this.#client.send(update, options));
    }
    const check = {
      ...this.#row(other),
      ConditionExpression: 'attribute_not_exists(#mark) AND #current > :zero AND #seen > :since',
      ExpressionAttributeNames: { '#mark': MARK, '#current': CURRENT, '#seen': SEEN },
      ExpressionAttributeValues: { ...ZERO, ':since': { N: String(nowS() - ALIVE_S) } },
    };
    const both = new TransactWriteItemsCommand({ TransactItems: [{ Update: own }, { ConditionCheck: check }] });
    return this.#ifConditionHolds(signal, (options) => this.#client.send(both, options));
  }

  #row(clusterName = this.#options.clusterName) {
    return { TableName: this.#options.tableName, Key: { [KEY]: { S: clusterName } } };
  }

  #rowIn(item: Record<string, AttributeValue>): ClusterRow {
    return { desired: this.#desiredIn(item), ...trafficIn(item) };
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

  /** Writes. Resolves to false if the condition does not hold: another client wrote first, and the next read shows its row. */
  async #ifConditionHolds(
    signal: AbortSignal,
    send: (options: { abortSignal: AbortSignal }) => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await this.#call(signal, send);
      return true;
    } catch (error) {
      if (isFailedCondition(error)) return false;
      throw error;
    }
  }

  /** Puts only the name of an AWS error into messages: its text may contain the ID of an access key. */
  async #call<T>(signal: AbortSignal, send: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      return await send({ abortSignal: signal });
    } catch (error) {
      if (isFailedCondition(error)) throw error;
      const name = error instanceof Error ? error.name : 'unknown error';
      const answered = error instanceof DynamoDBServiceException ? 'answered' : 'did not answer:';
      throw new BackendError('BackendUnavailable', `${this.#where} ${answered} ${name}`, { cause: error });
    }
  }
}

function trafficIn(row: Record<string, AttributeValue>): Omit<ClusterRow, 'desired'> {
  const seenAt = Number(row[SEEN]?.N ?? NaN);
  return {
    current: weightIn(row, CURRENT),
    isMarked: row[MARK] !== undefined,
    seenAt: Number.isFinite(seenAt) ? seenAt : undefined,
  };
}

function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}

function weightIn(row: Record<string, AttributeValue>, attribute: string): number | undefined {
  return clusterWeightIn(row[attribute]?.N);
}

function isFailedCondition(error: unknown): boolean {
  if (error instanceof ConditionalCheckFailedException) return true;
  if (!(error instanceof TransactionCanceledException)) return false;
  return (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ConditionalCheckFailed');
}

function isDenied(error: unknown): boolean {
  return error instanceof DynamoDBServiceException && error.name === 'AccessDeniedException';
}
