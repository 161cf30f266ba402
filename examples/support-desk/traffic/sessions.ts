// Four hundred and eighty customers and their orders, and what each writes to the desk: fifteen kinds, four wordings each, in eight rounds of sixty. The same
// every time for the same day.
import type { Customer, Order } from '../shop.ts'
import { type About, type CustomerSession, kinds, type OrderPlan } from './kinds.ts'

export const firstNames = [
  'Ada',
  'Bela',
  'Chidi',
  'Dara',
  'Emil',
  'Farah',
  'Goran',
  'Hana',
  'Ines',
  'Jonas',
  'Kofi',
  'Lena',
  'Mara',
  'Nils',
  'Omar',
] as const
/** Four a round. */
const lastNames = [
  'Brandt',
  'Costa',
  'Ivanova',
  'Okafor',
  'Petrov',
  'Quist',
  'Rossi',
  'Silva',
  'Tanaka',
  'Ueda',
  'Varga',
  'Weber',
  'Xu',
  'Young',
  'Zeman',
  'Aalto',
  'Bianchi',
  'Cerny',
  'Dvorak',
  'Eriksen',
  'Fischer',
  'Gomez',
  'Horvat',
  'Ito',
  'Jensen',
  'Kovacs',
  'Lopez',
  'Meyer',
  'Novak',
  'Ozturk',
  'Park',
  'Roux',
] as const
const wordings = 4
const items = [
  'linen curtain',
  'oak stool',
  'table lamp',
  'wool rug',
  'brass lantern',
  'tea kettle',
  'wall mirror',
  'floor vase',
  'bread basket',
] as const
const streets = ['Mill Lane', 'Station Road', 'Garden Street', 'Park Avenue', 'Harbour Square'] as const
const towns = ['Leeds', 'Bath', 'York', 'Derby'] as const

/** What the shop's database holds before the first customer writes. `today` is an ISO date. */
export function shopData(today: string): { customers: Customer[]; orders: Order[] } {
  const customers: Customer[] = []
  const orders: Order[] = []
  forEachSession((kind, row, index) => {
    const name = `${firstNames[kind]} ${lastNames[row]}`
    const id = customerId(index)
    customers.push({ id, name, email: `${name.toLowerCase().replace(' ', '.')}@example.com` })
    for (const [place, plan] of (kinds[kind]?.orders ?? []).entries()) orders.push(orderOf(id, index, place, plan, today))
  })
  return { customers, orders }
}

/** The first round, sixty, by default, in an order that mixes the kinds. A later round asks alike about other orders. `from`: how many customers to pass over. */
export function customerSessions(count = kinds.length * wordings, from = 0): CustomerSession[] {
  const sessions: CustomerSession[] = []
  forEachSession((kind, row, index) => {
    const about: About = {
      id: orderId(index, 0),
      item: itemOf(index, 0),
      otherId: orderId(index, 1),
      otherItem: itemOf(index, 1),
      address: addressOf(index + 7),
      pick: (...wordings) => wordings[row % wordings.length] ?? wordings[0],
    }
    sessions.push({ customer: customerId(index), kind: kinds[kind]?.name ?? '', turns: kinds[kind]?.turns(about) ?? [] })
  })
  return sessions.slice(from, from + count)
}

/** `row`: which of the last names, and of a round's wordings. */
function forEachSession(visit: (kind: number, row: number, index: number) => void): void {
  for (let row = 0; row < lastNames.length; row += 1) {
    for (let kind = 0; kind < kinds.length; kind += 1) visit(kind, row, row * kinds.length + kind)
  }
}

function orderOf(customer_id: string, index: number, place: number, plan: OrderPlan, today: string): Order {
  const arrived = plan.status === 'delivered' || plan.status === 'refunded'
  const ordered = before(today, plan.days + (arrived ? 4 : 0))
  return {
    order_id: orderId(index, place),
    customer_id,
    item: itemOf(index, place),
    price_eur: plan.price ?? 19 + ((index * 7 + place * 13) % 150),
    status: plan.status,
    ordered_on: ordered,
    ...(arrived ? { delivered_on: before(today, plan.days) } : {}),
    final_sale: plan.finalSale ?? false,
    ship_to: addressOf(index),
  }
}

const customerId = (index: number) => `C-${101 + index}`
const orderId = (index: number, place: number) => String(4001 + index * 3 + place)
const itemOf = (index: number, place: number) => items[(index + place * 4) % items.length] ?? items[0]
const addressOf = (index: number) => `${3 + ((index * 5) % 90)} ${streets[index % streets.length]}, ${towns[index % towns.length]}`
const before = (today: string, days: number) => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10)
