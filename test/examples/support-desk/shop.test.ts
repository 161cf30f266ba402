import { describe, expect, it } from 'vitest'
import { type Order, refundReasons } from '../../../examples/support-desk/shop.ts'

const delivered: Order = {
  order_id: '4001',
  customer_id: 'C-1',
  item: 'tea kettle',
  price_eur: 30,
  status: 'delivered',
  ordered_on: '2026-02-01',
  delivered_on: '2026-02-05',
  final_sale: false,
  ship_to: 'Bath',
}
const faulty = ['damaged', 'wrong_item']

describe('the reasons for which an order may be refunded', () => {
  it.each<[string, Partial<Order>, string, string[]]>([
    ['within 30 days', {}, '2026-03-07', ['changed_mind', ...faulty]],
    ['after 30 days', {}, '2026-03-08', faulty],
    ['after 90 days', {}, '2026-05-07', []],
    ['of a final sale', { final_sale: true }, '2026-02-06', faulty],
    ['of one over 200 euros', { price_eur: 200.01 }, '2026-02-06', []],
    ['of one that is under way', { status: 'shipped' }, '2026-02-06', []],
    ['of one that was refunded', { status: 'refunded' }, '2026-02-06', []],
  ])('%s', (_, differences, today, reasons) => {
    expect(refundReasons({ ...delivered, ...differences }, today)).toEqual(reasons)
  })
})
