// The five tools of the desk's agent. Two change something: a refund, a new address. Whose orders they are is not the model's to say: the customer comes from the session.
import type { Homeground } from '@homeground/sdk'
import { z } from 'zod'
import type { Shop } from './shop.ts'

const order_id = z.string()

/** By name. Each is called with the model's call and the customer's id. */
export function deskTools(hg: Homeground, shop: Shop) {
  return {
    list_orders: hg.tool({
      name: 'list_orders',
      description: "All of the customer's orders",
      parameters: z.object({}),
      effect: 'read',
      execute: async (_, customer: string) => shop.orders(customer).map(({ customer_id, ship_to, ...order }) => order),
    }),
    get_order: hg.tool({
      name: 'get_order',
      description: 'One order',
      parameters: z.object({ order_id }),
      effect: 'read',
      execute: async ({ order_id }, customer: string) => shop.order(customer, order_id),
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
