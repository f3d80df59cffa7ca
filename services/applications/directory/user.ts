/** A user who works for retailers, directly or through retailer groups. */
export interface RetailerUser {
  active: boolean;
  retailerIds: readonly string[];
  retailerGroupIds: readonly string[];
}

/** A retailer, and its group, if any. */
export interface Retailer {
  id: string;
  retailerGroupId: string | null;
}

/** Whether there is a user who may act for a retailer: the user is active, and belongs to the retailer or its group. */
export function mayActFor(user: RetailerUser | undefined, retailer: Retailer): boolean {
  if (!user?.active) return false;
  if (user.retailerIds.includes(retailer.id)) return true;
  const { retailerGroupId } = retailer;
  return retailerGroupId !== null && user.retailerGroupIds.includes(retailerGroupId);
}
