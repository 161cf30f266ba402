// The shop behind the desk: customers, orders, what can be done to an order. In memory; a real shop keeps the same behind a database.

export interface Customer {
  id: string
  name: string
  email: string
}

export interface Order {
  order_id: string
  customer_id: string
  item: string
  price_eur: number
  status: 'processing' | 'shipped' | 'delivered' | 'refunded'
  ordered_on: string
  /** ISO date; absent until it is delivered. */
  delivered_on?: string
  final_sale: boolean
  ship_to: string
}

export type PolicyTopic = 'refunds' | 'address' | 'shipping'
export type RefundReason = 'changed_mind' | 'damaged' | 'wrong_item'

/** What went wrong, in words that the customer's agent may repeat. */
export class ShopError extends Error {
  override name = 'ShopError'
}

export interface Shop {
  /** ISO date. */
  today(): string
  customer(id: string): Customer
  /** Newest first. */
  orders(customerId: string): Order[]
  /** @throws ShopError for an order that is not there or is another customer's: both read the same */
  order(customerId: string, orderId: string): Order
  /** Pays the order's price back. @throws ShopError when that cannot be done to the order; whether it *should* be done is the policy's business */
  refund(customerId: string, orderId: string, reason: RefundReason): { order_id: string; refunded_eur: number; reason: RefundReason }
  /** @throws ShopError when the parcel has left */
  changeAddress(customerId: string, orderId: string, address: string): { order_id: string; ship_to: string }
  policy(topic: PolicyTopic): string
}

export function createShop(data: { customers: readonly Customer[]; orders: readonly Order[] }, options: { today: () => string }): Shop {
  const customers = new Map(data.customers.map((customer) => [customer.id, customer]))
  const orders = new Map(data.orders.map((order) => [order.order_id, { ...order }]))

  function order(customerId: string, orderId: string): Order {
    const found = orders.get(orderId)
    if (found?.customer_id !== customerId) throw new ShopError(`no order ${orderId} for this customer`)
    return found
  }

  return {
    today: options.today,
    customer(id) {
      const found = customers.get(id)
      if (found === undefined) throw new ShopError(`no customer ${id}`)
      return { ...found }
    },
    orders: (customerId) =>
      [...orders.values()]
        .filter((each) => each.customer_id === customerId)
        .map((each) => ({ ...each }))
        .sort((a, b) => (a.ordered_on < b.ordered_on ? 1 : -1)),
    order: (customerId, orderId) => ({ ...order(customerId, orderId) }),
    refund(customerId, orderId, reason) {
      const found = order(customerId, orderId)
      if (found.status === 'refunded') throw new ShopError(`order ${orderId} is refunded already`)
      if (found.status !== 'delivered') throw new ShopError(`order ${orderId} is not delivered yet`)
      found.status = 'refunded'
      return { order_id: orderId, refunded_eur: found.price_eur, reason }
    },
    changeAddress(customerId, orderId, address) {
      const found = order(customerId, orderId)
      if (found.status !== 'processing') throw new ShopError(`order ${orderId} has left the warehouse`)
      found.ship_to = address
      return { order_id: orderId, ship_to: address }
    },
    policy: (topic) => policies[topic],
  }
}

/** Why the policy would pay this order back today; empty: for no reason, or a colleague decides. The shop's to say, not the model's. */
export function refundReasons(order: Order, today: string): RefundReason[] {
  if (order.status !== 'delivered' || order.delivered_on === undefined || order.price_eur > 200) return []
  const days = wholeDays(order.delivered_on, today)
  if (days > 90) return []
  return days > 30 || order.final_sale ? ['damaged', 'wrong_item'] : ['changed_mind', 'damaged', 'wrong_item']
}

/** From one ISO date to another. */
export function wholeDays(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)
}

const policies: Record<PolicyTopic, string> = {
  refunds:
    'Any reason: within 30 days of delivery. Damaged or wrong item: within 90 days of delivery, final sale too. Final sale: otherwise no refund. Over 200 euros: do not refund; a colleague writes within one working day. Not delivered: no refund yet.',
  address: 'The address can be changed while the order is processing. Once shipped it cannot be changed.',
  shipping: 'Delivery takes 3 to 5 working days after the order. Shipping is free over 50 euros.',
}
