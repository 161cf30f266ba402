// The fifteen kinds of customer that write to the desk, each with four ways to say it, and what the right answer does.
import type { Order } from '../shop.ts'

/** What the quality team would note beside a reply: the calls that change something, and texts that the reply must contain. */
export interface Turn {
  says: string
  actions: { name: string; arguments: Record<string, string> }[]
  outputs: string[]
}

/** One customer's visit. */
export interface CustomerSession {
  customer: string
  kind: string
  turns: Turn[]
}

export type OrderPlan = Pick<Order, 'status'> & { days: number; price?: number; finalSale?: boolean }

export interface Kind {
  name: string
  /** The customer's orders: the first is the one it is about. `days`: since delivery, or since the order where it is not delivered. */
  orders: OrderPlan[]
  turns(about: About): Turn[]
}

/** Names of one session's things; `pick` chooses among four wordings. */
export interface About {
  id: string
  item: string
  otherId: string
  otherItem: string
  address: string
  pick(...wordings: [string, string, string, string]): string
}

const delivered = (days: number, more: Partial<OrderPlan> = {}): OrderPlan => ({ status: 'delivered', days, ...more })
const refund = (order_id: string, reason: string) => ({ name: 'refund_order', arguments: { order_id, reason } })
const move = (order_id: string, address: string) => ({ name: 'change_address', arguments: { order_id, address } })
const thanks: Turn = { says: 'Thank you!', actions: [], outputs: [] }

export const kinds: readonly Kind[] = [
  {
    name: 'refund-in-time',
    orders: [delivered(9), delivered(70)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `Hello, I would like a refund for order ${id}.`,
          `Hi! The ${item} does not suit our room. Can I get my money back for ${id}?`,
          `I want to send it back: order ${id}, the ${item}.`,
          `Please refund order ${id}, I changed my mind.`,
        ),
        actions: [refund(id, 'changed_mind')],
        outputs: [id],
      },
      thanks,
    ],
  },
  {
    name: 'refund-too-late',
    orders: [delivered(52)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `I'd like my money back for order ${id}.`,
          `Refund please, order number ${id}.`,
          `The ${item} from order ${id} is nice, but I want to return it.`,
          `Can you reimburse order ${id}? I never used it.`,
        ),
        actions: [],
        outputs: ['30 days'],
      },
    ],
  },
  {
    name: 'refund-too-late-then-damaged',
    orders: [delivered(47)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(`Refund order ${id}, please.`, `Money back for ${id}?`, `I want to return order ${id}.`, `A refund for ${id}, please.`),
        actions: [],
        outputs: ['30 days'],
      },
      {
        says: pick(
          `But the ${item} arrived broken!`,
          'It was cracked when I opened the box.',
          `The ${item} is damaged, though.`,
          'It came torn, look at the parcel.',
        ),
        actions: [refund(id, 'damaged')],
        outputs: [id],
      },
    ],
  },
  {
    name: 'damaged-on-arrival',
    orders: [delivered(61), delivered(12)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `My ${item} from order ${id} arrived smashed.`,
          `Order ${id} is broken. I want my money back.`,
          `The ${item} (order ${id}) came cracked, please refund it.`,
          `I only now opened order ${id}: it is damaged.`,
        ),
        actions: [refund(id, 'damaged')],
        outputs: [id],
      },
    ],
  },
  {
    name: 'damaged-no-number',
    orders: [delivered(6), delivered(90)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `The ${item} you sent me is broken. I want a refund.`,
          `My new ${item} arrived in pieces!`,
          `Please refund the ${item}, it is faulty.`,
          `The ${item} came cracked, can I have my money back?`,
        ),
        actions: [refund(id, 'damaged')],
        outputs: [id],
      },
      thanks,
    ],
  },
  {
    name: 'final-sale',
    orders: [delivered(8, { finalSale: true })],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `I want to return the ${item}, order ${id}.`,
          `Could I have a refund for ${id}? It is not my colour.`,
          `Refund for order ${id} please, it does not fit.`,
          `Money back for ${id}, please: I bought two by mistake.`,
        ),
        actions: [],
        outputs: ['final sale'],
      },
    ],
  },
  {
    name: 'costs-over-200',
    orders: [delivered(11, { price: 349 }), delivered(20)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `I would like to return the ${item} from order ${id}.`,
          `Refund order ${id}, please.`,
          `The ${item} is too big. Money back for ${id}?`,
          `Order ${id}: I want a refund.`,
        ),
        actions: [],
        outputs: ['colleague'],
      },
      {
        says: pick('All right, thanks.', 'Thank you, I will wait.', 'Great, thanks.', 'OK, thanks for looking.'),
        actions: [],
        outputs: [],
      },
    ],
  },
  {
    name: 'wrong-item',
    orders: [delivered(40), delivered(15)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          `Order ${id}: you sent the wrong item. I want a refund.`,
          `I ordered a ${item} in order ${id} and got the wrong thing.`,
          `Order ${id} was not what I ordered, please refund it.`,
          `You sent me the wrong colour in ${id}, I'd like my money back.`,
        ),
        actions: [refund(id, 'wrong_item')],
        outputs: [id],
      },
    ],
  },
  {
    name: 'not-delivered-yet',
    orders: [{ status: 'shipped', days: 2 }, delivered(200)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(`Where is my order ${id}?`, `When will ${id} arrive?`, `Has it shipped? Order ${id}.`, `What is the status of ${id}?`),
        actions: [],
        outputs: ['shipped'],
      },
      {
        says: pick(
          'Then refund it, please.',
          'I do not want it any more, money back please.',
          `Refund the ${item} now.`,
          'I want a refund instead.',
        ),
        actions: [],
        outputs: ['not delivered'],
      },
    ],
  },
  {
    name: 'refunded-already',
    orders: [{ status: 'refunded', days: 14 }],
    turns: ({ id, pick }) => [
      {
        says: pick(
          `Please refund order ${id}.`,
          `Where is my money back for ${id}?`,
          `I want a refund for ${id}.`,
          `Can you refund ${id} again?`,
        ),
        actions: [],
        outputs: ['already refunded'],
      },
    ],
  },
  {
    name: 'unknown-order',
    orders: [delivered(10), delivered(33)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          'I want a refund for order 9917.',
          'Please refund 9240, it is my order.',
          'Money back for order 9405!',
          'Order 9033: I want to return it.',
        ),
        actions: [],
        outputs: ['cannot find', id],
      },
      {
        says: pick(`Sorry, I meant ${id}.`, `Oh, it is order ${id}.`, `The ${item}: ${id}.`, `My mistake: ${id}, please.`),
        actions: [refund(id, 'changed_mind')],
        outputs: [id],
      },
    ],
  },
  {
    name: 'address-in-time',
    orders: [{ status: 'processing', days: 1 }, delivered(80)],
    turns: ({ id, address, pick }) => [
      {
        says: pick(
          `Please send order ${id} to ${address} instead.`,
          `I have moved! Order ${id} should go to ${address}.`,
          `Can you change the address of ${id} to ${address}?`,
          `New address for ${id}: ${address}.`,
        ),
        actions: [move(id, address)],
        outputs: [address],
      },
      thanks,
    ],
  },
  {
    name: 'address-too-late',
    orders: [{ status: 'shipped', days: 3 }],
    turns: ({ id, address, pick }) => [
      {
        says: pick(
          `Please deliver ${id} to ${address}.`,
          `Change the address of order ${id} to ${address}, please.`,
          `I moved: ${address}. It is about order ${id}.`,
          `Order ${id} has the wrong address, it must be ${address}.`,
        ),
        actions: [],
        outputs: ['already shipped'],
      },
    ],
  },
  {
    name: 'address-asked-for',
    orders: [{ status: 'processing', days: 0 }],
    turns: ({ id, address, pick }) => [
      {
        says: pick(
          `I need another address on order ${id}.`,
          `Can I change the address of ${id}?`,
          `The address on ${id} is old.`,
          `Wrong address on order ${id}!`,
        ),
        actions: [],
        outputs: ['new address'],
      },
      {
        says: pick(`It is ${address}.`, `${address}, please.`, `To ${address}.`, `We live at ${address} now.`),
        actions: [move(id, address)],
        outputs: [address],
      },
    ],
  },
  {
    name: 'question-then-refund',
    orders: [delivered(25)],
    turns: ({ id, item, pick }) => [
      {
        says: pick(
          'How long do I have to return something?',
          'What is your policy on refunds?',
          'How many days do I have to send something back?',
          'Do you accept returns?',
        ),
        actions: [],
        outputs: ['30 days'],
      },
      {
        says: pick(
          `Then please refund the ${item}.`,
          `OK: I want a refund for ${id}.`,
          `Good, then money back for ${id} please.`,
          `Please return the ${item} for me then.`,
        ),
        actions: [refund(id, 'changed_mind')],
        outputs: [id],
      },
    ],
  },
]
