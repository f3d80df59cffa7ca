/** The tables of the applications service that TypeORM reads and writes. */
import { EntitySchema } from 'typeorm';

export interface RetailerGroupRow {
  id: string;
  name: string;
}

export interface RetailerRow {
  id: string;
  name: string;
  retailerGroupId: string | null;
}

export interface UserRow {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  active: boolean;
  retailerIds: string[];
  retailerGroupIds: string[];
}

export interface CreditorRow {
  id: string;
  name: string;
}

/** A group of retailers; the group's users may act for each of its retailers. */
export const retailerGroups = new EntitySchema<RetailerGroupRow>({
  name: 'retailer_groups',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
  },
});

export const retailers = new EntitySchema<RetailerRow>({
  name: 'retailers',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
    retailerGroupId: { type: 'uuid', name: 'retailer_group_id', nullable: true },
  },
});

export const users = new EntitySchema<UserRow>({
  name: 'users',
  columns: {
    id: { type: 'uuid', primary: true },
    firstName: { type: 'text', name: 'first_name' },
    lastName: { type: 'text', name: 'last_name' },
    email: { type: 'text' },
    active: { type: 'boolean' },
    retailerIds: { type: 'uuid', name: 'retailer_ids', array: true },
    retailerGroupIds: { type: 'uuid', name: 'retailer_group_ids', array: true },
  },
});

export const creditors = new EntitySchema<CreditorRow>({
  name: 'creditors',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
  },
});

/** These tables, for the data source. */
export const TABLES = [retailerGroups, retailers, users, creditors];
