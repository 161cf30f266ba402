// `desk-expert`: looks before it acts. Finds the order, reads the policy, and only then refunds or changes.
import {
  addressIn,
  type Conversation,
  isDamaged,
  isWrongItem,
  orderNumberIn,
  ordersIn,
  type SeenOrder,
  type ToolAnswer,
  type Wish,
  wishOf,
} from './reading.ts'

/** What a model does next: says something, or calls tools. */
export type Move = { says: string } | { calls: { name: string; arguments: Record<string, string> }[] }

export function expert(conversation: Conversation): Move {
  const wish = currentWish(conversation)
  switch (wish) {
    case 'thanks':
      return { says: 'You are welcome! Have a lovely day.' }
    case 'unclear':
      return { says: 'I am happy to help with orders, refunds, delivery and addresses. What would you like me to do?' }
    case 'policy':
      return policyAnswer(conversation)
    case 'refund':
    case 'address':
    case 'status':
      return aboutAnOrder(conversation, wish)
  }
}

/** A short follow-up ("it is number 4012", "yes, please") carries on with what was asked before. */
function currentWish(conversation: Conversation): Wish {
  const said = conversation.customer.map(wishOf)
  const latest = said.at(-1) ?? 'unclear'
  if (latest !== 'unclear') return latest
  return said.findLast((wish) => wish === 'refund' || wish === 'address' || wish === 'status') ?? 'unclear'
}

function aboutAnOrder(conversation: Conversation, wish: 'refund' | 'address' | 'status'): Move {
  const number = orderMeant(conversation)
  const list = answerOf(conversation, 'list_orders')
  if (number === undefined) {
    if (list === undefined) return { calls: [{ name: 'list_orders', arguments: {} }] }
    return { says: `Which order do you mean? ${spoken(ordersIn(list))}` }
  }
  const found = answerOf(conversation, 'get_order')
  if (found === undefined) {
    const topic = wish === 'refund' ? 'refunds' : wish === 'address' ? 'address' : 'shipping'
    return {
      calls: [
        { name: 'get_order', arguments: { order_id: number } },
        { name: 'read_policy', arguments: { topic } },
      ],
    }
  }
  const order = ordersIn(found)[0]
  if (found.failed || order === undefined) {
    if (list === undefined) return { calls: [{ name: 'list_orders', arguments: {} }] }
    return { says: `I cannot find order ${number} in your account. ${spoken(ordersIn(list))}` }
  }
  if (wish === 'refund') return refund(conversation, order)
  if (wish === 'address') return changeAddress(conversation, order)
  return { says: statusOf(order) }
}

function refund(conversation: Conversation, order: SeenOrder): Move {
  const done = answerOf(conversation, 'refund_order')
  if (done !== undefined) {
    if (done.failed) return { says: `I could not refund order ${order.order_id}; a colleague will write to you.` }
    return { says: `Done: I have refunded ${euros(order)} for the ${order.item} (order ${order.order_id}). It takes up to 5 working days.` }
  }
  if (order.status === 'refunded') return { says: `Order ${order.order_id} is already refunded, so nothing more is due.` }
  if (order.status !== 'delivered' || order.delivered_days_ago === undefined) {
    return { says: `Order ${order.order_id} is not delivered yet; I can only refund it once it has arrived.` }
  }
  if (order.price_eur > 200) {
    return {
      says: `The ${order.item} cost ${euros(order)}, and a colleague decides on refunds of that size: expect an email within one working day.`,
    }
  }
  const said = conversation.customer.join('\n')
  const reason = isDamaged(said) ? 'damaged' : isWrongItem(said) ? 'wrong_item' : 'changed_mind'
  const days = order.delivered_days_ago
  if (reason === 'changed_mind' && order.final_sale) {
    return { says: `The ${order.item} was a final sale item, which we only refund when it arrives damaged or wrong.` }
  }
  const limit = reason === 'changed_mind' ? 30 : 90
  if (days > limit) {
    return { says: `I am sorry: refunds are possible within ${limit} days of delivery, and order ${order.order_id} came ${days} days ago.` }
  }
  return { calls: [{ name: 'refund_order', arguments: { order_id: order.order_id, reason } }] }
}

function changeAddress(conversation: Conversation, order: SeenOrder): Move {
  const done = answerOf(conversation, 'change_address')
  if (done !== undefined) {
    if (done.failed) return { says: `I could not change the address of order ${order.order_id}; a colleague will write to you.` }
    return { says: `Done: order ${order.order_id} now goes to ${String(done.arguments['address'])}.` }
  }
  if (order.status !== 'processing') {
    return { says: `Order ${order.order_id} has already shipped, so its address can no longer be changed.` }
  }
  const address = conversation.customer.map(addressIn).findLast((found) => found !== undefined)
  if (address === undefined) return { says: `What is the new address for order ${order.order_id}?` }
  return { calls: [{ name: 'change_address', arguments: { order_id: order.order_id, address } }] }
}

function policyAnswer(conversation: Conversation): Move {
  const topic = /\b(shipping|delivery)\b/i.test(conversation.last)
    ? 'shipping'
    : /\baddress/i.test(conversation.last)
      ? 'address'
      : 'refunds'
  const read = answerOf(conversation, 'read_policy')
  if (read === undefined) return { calls: [{ name: 'read_policy', arguments: { topic } }] }
  return { says: `This is our policy. ${String(read.result)}` }
}

/** The number in the latest message that has one, else the listed order whose name was mentioned. */
function orderMeant(conversation: Conversation): string | undefined {
  const spokenNumber = conversation.customer.map(orderNumberIn).findLast((number) => number !== undefined)
  if (spokenNumber !== undefined) return spokenNumber
  const listed = ordersIn(answerOf(conversation, 'list_orders'))
  if (listed.length === 1) return listed[0]?.order_id
  const said = conversation.customer.join(' ').toLowerCase()
  const named = listed.filter((order) => said.includes(order.item.toLowerCase().split(' ').at(-1) ?? order.item))
  return named.length === 1 ? named[0]?.order_id : undefined
}

function answerOf(conversation: Conversation, tool: string): ToolAnswer | undefined {
  return conversation.answers.findLast((answer) => answer.name === tool)
}

function statusOf(order: SeenOrder): string {
  const { ordered_days_ago: ordered, delivered_days_ago: delivered } = order
  const since = delivered === undefined ? `ordered ${daysAgo(ordered)}` : `delivered ${daysAgo(delivered)}`
  return `Your ${order.item} (order ${order.order_id}) is ${order.status}; it was ${since}.`
}

function daysAgo(days: number | undefined): string {
  return days === undefined || days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`
}

function spoken(orders: readonly SeenOrder[]): string {
  return orders.length === 0
    ? 'You have no orders.'
    : `Your orders: ${orders.map((order) => `${order.order_id} (${order.item})`).join(', ')}.`
}

function euros(order: SeenOrder): string {
  return `EUR ${order.price_eur.toFixed(2)}`
}
