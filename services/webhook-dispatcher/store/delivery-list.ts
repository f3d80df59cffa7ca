/** Looking at deliveries: for operators, so on a cold path. */
import type { Database } from '@creditlane/postgres/database';
import { type DeliveryRow, type DeliveryStateName, deliveries } from '../tables.ts';

export interface ListRequest {
  applicationId: string | undefined;
  state: DeliveryStateName | undefined;
  /** Only those made before this one. */
  before: string | undefined;
  limit: number;
}

/** Deliveries with their bodies' events, their destinations' states and their attempts, newest first. */
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
    query.andWhere('d.applicationId = :applicationId', { applicationId });
  if (before !== undefined) query.andWhere('d.id < :before', { before });
  // Written out, for the planner to see that a partial index serves. It is one of four words.
  if (state !== undefined) query.andWhere(`d.state = '${state}'`);
  return query.getMany();
}
