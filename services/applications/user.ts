/** Somebody who works for retailers, directly or through their groups. */
export interface RetailerUser {
  active: boolean;
  retailerIds: readonly string[];
  retailerGroupIds: readonly string[];
}

/** A retailer, and the group that it belongs to, if any. */
export interface Retailer {
  id: string;
  retailerGroupId: string | null;
}

/** Whether a user may act for a retailer: active, and of the retailer itself or of its group. */
export function mayActFor(user: RetailerUser, retailer: Retailer): boolean {
  if (!user.active) return false;
  if (user.retailerIds.includes(retailer.id)) return true;
  const { retailerGroupId } = retailer;
  return retailerGroupId !== null && user.retailerGroupIds.includes(retailerGroupId);
}
