/** Lists deliveries for operators: a cold path, so through TypeORM. */
import type { Database } from '@creditlane/postgres/database';
import { In } from 'typeorm';
import {
  type AttemptRow,
  attempts,
  type DeliveryRow,
  type DeliveryStateName,
  deliveries,
} from '../tables.ts';

export interface ListRequest {
  applicationId: string | undefined;
  state: DeliveryStateName | undefined;
  /** Only deliveries that were created before the one with this id. */
  before: string | undefined;
  limit: number;
}

export interface ListedDelivery extends DeliveryRow {
  /** In the order in which they were made. */
  attempts: AttemptRow[];
}

/**
 * Lists deliveries with their messages, destination states and attempts, newest first. The attempts are read
 * by the ids of the page: joined, each of them would take a place of the limit.
 */
export async function listDeliveries(
  { dataSource }: Database,
  { applicationId, state, before, limit }: ListRequest,
): Promise<ListedDelivery[]> {
  const query = dataSource
    .getRepository(deliveries)
    .createQueryBuilder('d')
    .innerJoinAndSelect('d.message', 'm')
    .leftJoinAndSelect('d.destination', 's')
    .orderBy('d.id', 'DESC')
    .limit(limit);
  if (applicationId !== undefined)
    query.andWhere('d.orderingKey = :applicationId', { applicationId });
  if (before !== undefined) query.andWhere('d.id < :before', { before });
  // A literal, one of four words: with a parameter the planner would not use the partial indexes.
  if (state !== undefined) query.andWhere(`d.state = '${state}'`);
  const page = await query.getMany();

  const made = await dataSource.getRepository(attempts).find({
    where: { deliveryId: In(page.map(({ id }) => id)) },
    order: { number: 'ASC' },
  });
  const byDelivery = Map.groupBy(made, ({ deliveryId }) => deliveryId);
  return page.map((row) => ({ ...row, attempts: byDelivery.get(row.id) ?? [] }));
}
