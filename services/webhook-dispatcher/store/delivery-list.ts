/** Lists deliveries for operators: a cold path, so through TypeORM. */
import type { Database } from '@creditlane/postgres/database';
import { type DeliveryRow, type DeliveryStateName, deliveries } from '../tables.ts';

export interface ListRequest {
  applicationId: string | undefined;
  state: DeliveryStateName | undefined;
  /** Only deliveries that were created before the one with this id. */
  before: string | undefined;
  limit: number;
}

/** Lists deliveries with their messages, destination states and attempts, newest first. */
export function listDeliveries(
  { dataSource }: Database,
  { applicationId, state, before, limit }: ListRequest,
): Promise<DeliveryRow[]> {
  const query = dataSource
    .getRepository(deliveries)
    .createQueryBuilder('d')
    .innerJoinAndSelect('d.message', 'm')
    .leftJoinAndSelect('d.destination', 's')
    .leftJoinAndSelect('d.attempts', 'a')
    .orderBy('d.id', 'DESC')
    .addOrderBy('a.number')
    .take(limit);
  if (applicationId !== undefined)
    query.andWhere('d.orderingKey = :applicationId', { applicationId });
  if (before !== undefined) query.andWhere('d.id < :before', { before });
  // A literal, one of four words: with a parameter the planner would not use the partial indexes.
  if (state !== undefined) query.andWhere(`d.state = '${state}'`);
  return query.getMany();
}
