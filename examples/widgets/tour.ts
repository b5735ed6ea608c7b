import { createChannel, createClient, Metadata } from 'nice-grpc'
import { definitionOf } from '../../lib/index.js'
import type { Screen } from '../tour/screen.js'
import { WidgetService } from './gen/widgets_pb.js'
import { grpcTour } from './tour-grpc.js'
import { httpTour } from './tour-http.js'

/** Walks through the widget service, over gRPC and over HTTP. */
export async function widgetTour(grpcAddress: string, url: string, screen: Screen): Promise<void> {
  const channel = createChannel(grpcAddress)
  try {
    const as = (tenant: string) => ({
      metadata: Metadata({ 'account-id': tenant, subject: 'ada', groups: 'staff' }),
    })
    await grpcTour(createClient(definitionOf(WidgetService), channel), as, screen)
    await httpTour(url, screen)
  } finally {
    channel.close()
  }
}
