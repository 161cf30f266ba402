// The five tools of the desk's agent. Two change something: a refund, a new address. Whose orders they are is not the model's to say: the customer comes from the session.
import type { Homeground } from '@homeground/sdk'
import { z } from 'zod'
import { type Order, refundReasons, type Shop, wholeDays } from './shop.ts'

const order_id = z.string()

/** By name. Each is called with the model's call and the customer's id. */
export function deskTools(hg: Homeground, shop: Shop) {
  return {
    list_orders: hg.tool({
      name: 'list_orders',
      description: "All of the customer's orders",
      parameters: z.object({}),
      effect: 'read',
      execute: async (_, customer: string) => shop.orders(customer).map((order) => orderAsToldToModel(order, shop.today())),
    }),
    get_order: hg.tool({
      name: 'get_order',
      description: 'One order, and the reasons for which it may be refunded',
      parameters: z.object({ order_id }),
      effect: 'read',
      execute: async ({ order_id }, customer: string) => {
        const order = shop.order(customer, order_id)
        return { ...orderAsToldToModel(order, shop.today()), refundable_for: refundReasons(order, shop.today()) }
      },
    }),
    read_policy: hg.tool({
      name: 'read_policy',
      description: "The shop's rules",
      parameters: z.object({ topic: z.enum(['refunds', 'address', 'shipping']) }),
      effect: 'read',
      execute: async ({ topic }, _customer: string) => shop.policy(topic),
    }),
    refund_order: hg.tool({
      name: 'refund_order',
      description: 'Pays a delivered order back',
      parameters: z.object({ order_id, reason: z.enum(['changed_mind', 'damaged', 'wrong_item']) }),
      effect: 'write',
      execute: async ({ order_id, reason }, customer: string) => shop.refund(customer, order_id, reason),
    }),
    change_address: hg.tool({
      name: 'change_address',
      description: 'Sends an order to another address',
      parameters: z.object({ order_id, address: z.string() }),
      effect: 'write',
      execute: async ({ order_id, address }, customer: string) => shop.changeAddress(customer, order_id, address),
    }),
  }
}

/** What the model needs to know of an order and no more. Days are counted here: a model that has to subtract dates gets some of them wrong. */
function orderAsToldToModel({ order_id, item, price_eur, status, ordered_on, delivered_on, final_sale }: Order, today: string) {
  const since =
    delivered_on === undefined ? { ordered_days_ago: wholeDays(ordered_on, today) } : { delivered_days_ago: wholeDays(delivered_on, today) }
  return { order_id, item, price_eur, status, ...since, final_sale }
}
