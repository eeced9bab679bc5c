import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { Aws } from './moto.ts';

/** The table of k8s-traffic-controller, at a server that answers as DynamoDB. */
export interface WeightTable {
  readonly name: string;
  /** The weights of a cluster as numbers, those that there are; undefined if it has no row. */
  row(cluster: string): Promise<{ desired?: number; current?: number } | undefined>;
  put(cluster: string, attributes: Record<string, AttributeValue>): Promise<void>;
  /** Sets the desired weight, and leaves the rest of the row. */
  desire(cluster: string, weight: number): Promise<void>;
  delete(cluster: string): Promise<void>;
  close(): void;
}

export const DESIRED = 'DesiredWeight';
export const CURRENT = 'CurrentWeight';

/** Creates the table. */
export async function createWeightTable(aws: Aws, name = 'traffic-controller'): Promise<WeightTable> {
  const client = new DynamoDBClient(aws.client);
  const create = new CreateTableCommand({
    TableName: name,
    AttributeDefinitions: [{ AttributeName: 'ClusterName', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'ClusterName', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await client.send(create);
  const keyOf = (cluster: string) => ({ ClusterName: { S: cluster } });
  return {
    name,
    async row(cluster) {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: name, Key: keyOf(cluster), ConsistentRead: true }),
      );
      if (Item === undefined) return undefined;
      const { [DESIRED]: desired, [CURRENT]: current } = Item;
      return { ...(desired && { desired: Number(desired.N) }), ...(current && { current: Number(current.N) }) };
    },
    async put(cluster, attributes) {
      await client.send(new PutItemCommand({ TableName: name, Item: { ...keyOf(cluster), ...attributes } }));
    },
    async desire(cluster, weight) {
      const update = {
        UpdateExpression: 'SET #desired = :weight',
        ExpressionAttributeNames: { '#desired': DESIRED },
        ExpressionAttributeValues: { ':weight': { N: String(weight) } },
      };
      await client.send(new UpdateItemCommand({ TableName: name, Key: keyOf(cluster), ...update }));
    },
    async delete(cluster) {
      await client.send(new DeleteItemCommand({ TableName: name, Key: keyOf(cluster) }));
    },
    close: () => client.destroy(),
  };
}

/** The attributes of a row whose operator was seen some seconds ago. */
export function weights(desired: number, current: number, secondsAgo = 0): Record<string, AttributeValue> {
  const seenAt = Math.floor(Date.now() / 1_000) - secondsAgo;
  return { [DESIRED]: { N: String(desired) }, [CURRENT]: { N: String(current) }, SeenAt: { N: String(seenAt) } };
}
