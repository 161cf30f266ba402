// `desk-novice`: friendly and quick, acts before it looks. Heeds an instruction that tells it to look first.
import { expert, type Move } from './expert.ts'
import { addressIn, type Conversation, isDamaged, orderNumberIn, ordersIn, wishOf } from './reading.ts'

export function novice(conversation: Conversation): Move {
  if (/before any refund or change, look up the order/i.test(conversation.instructions)) return expert(conversation)
  const last = conversation.answers.at(-1)
  const number = conversation.customer.map(orderNumberIn).findLast((found) => found !== undefined)
  const wish = wishOf(conversation.last)
  const goesOn = wish === 'unclear' && number !== undefined ? wishOf(conversation.customer.at(-2) ?? '') : wish
  switch (goesOn) {
    case 'refund': {
      if (number === undefined) return { says: 'Of course! Could you give me your order number?' }
      if (last?.name === 'refund_order') {
        return {
          says: last.failed
            ? 'Hm, that did not work. Please try again later.'
            : `Done: order ${number} is refunded. Sorry for the trouble!`,
        }
      }
      const reason = isDamaged(conversation.last) ? 'damaged' : 'changed_mind'
      return { calls: [{ name: 'refund_order', arguments: { order_id: number, reason } }] }
    }
    case 'address': {
      const address = addressIn(conversation.last)
      if (number === undefined || address === undefined) return { says: 'Sure! Please send me the order number and the new address.' }
      if (last?.name === 'change_address') {
        return { says: last.failed ? 'Hm, that did not work. Please try again later.' : `Done: order ${number} now goes to ${address}.` }
      }
      return { calls: [{ name: 'change_address', arguments: { order_id: number, address } }] }
    }
    case 'status': {
      if (number === undefined) return { says: 'Could you give me your order number?' }
      if (last?.name !== 'get_order') return { calls: [{ name: 'get_order', arguments: { order_id: number } }] }
      const order = ordersIn(last)[0]
      return { says: order === undefined ? 'It should be with you soon!' : `Your ${order.item} is ${order.status}.` }
    }
    case 'policy':
      return { says: 'No worries: you can return anything within 60 days.' }
    case 'thanks':
      return { says: 'You are welcome!' }
    case 'unclear':
      return { says: 'Could you tell me a little more?' }
  }
}
